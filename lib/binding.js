/** Loads the addon of this platform, and says what to do where there is none. */

const path = require("node:path");
const { ADDONS } = require("./addons.js");
const { sessionError } = require("./error.js");
const { platformName } = require("./platform.js");
const { version } = require("../package.json");

/** An addon of this version; one of another version has other functions. */
function use(addon) {
	if (addon.NATIVE_VERSION === version) return addon;
	throw new Error(`this is the addon of version ${addon.NATIVE_VERSION}, needed is ${version}`);
}

/** The first sentence of why something could not be loaded; what follows is about the program's own files. */
function reason(error) {
	return String(error?.message ?? error).split("\n")[0];
}

function load() {
	const platform = platformName();
	const addon = ADDONS[platform];
	if (!addon) {
		throw sessionError(
			"ERR_ADDON_UNAVAILABLE",
			`omp-session has no addon for ${platform}; there are some for ${Object.keys(ADDONS).join(", ")}. ` +
				"With Rust and its source tree one can be built: see docs/RELEASE.md there",
		);
	}
	const tried = [];
	const loaded = addon(use, (error) => tried.push(reason(error)));
	if (loaded) return loaded;
	const [built, installed] = tried;
	const places = [
		`  ${path.join(__dirname, "..", `omp-session.${platform}.node`)}: ${built}`,
		`  @omp-session/${platform}, looked for from ${__dirname}: ${installed}`,
	];
	throw sessionError(
		"ERR_ADDON_UNAVAILABLE",
		`omp-session ${version} could not load its addon for ${platform}. It tried\n${places.join("\n")}\n` +
			`Install the package again, with optional dependencies (npm install --include=optional omp-session@${version}); ` +
			"in the source tree, run npm run build",
		{ tried: places.map((place) => place.trim()) },
	);
}

module.exports = load();
