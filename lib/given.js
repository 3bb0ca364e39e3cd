/** The base of classes that put private fields on objects they did not make. */
class Given {
	constructor(object) {
		// A constructor that returns an object lets a subclass put private fields on it.
		// biome-ignore lint/correctness/noConstructorReturn: this is what the class is for
		return object;
	}
}

module.exports = { Given };
