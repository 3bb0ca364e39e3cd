/**
 * The addons there are, by platform: each is looked for where the source tree builds it, then in the
 * package of the platform. Every `require` is literal and stands in a `try` of its own: so bundlers
 * and `bun build --compile` take in what is installed and pass over the rest.
 *
 * `use` returns an addon that fits and throws for one that does not; `failed` takes note.
 */
const ADDONS = {
	"linux-x64-gnu": (use, failed) => {
		try {
			return use(require("../omp-session.linux-x64-gnu.node"));
		} catch (error) {
			failed(error);
		}
		try {
			return use(require("@omp-session/linux-x64-gnu"));
		} catch (error) {
			failed(error);
		}
	},
	"linux-x64-musl": (use, failed) => {
		try {
			return use(require("../omp-session.linux-x64-musl.node"));
		} catch (error) {
			failed(error);
		}
		try {
			return use(require("@omp-session/linux-x64-musl"));
		} catch (error) {
			failed(error);
		}
	},
	"linux-arm64-gnu": (use, failed) => {
		try {
			return use(require("../omp-session.linux-arm64-gnu.node"));
		} catch (error) {
			failed(error);
		}
		try {
			return use(require("@omp-session/linux-arm64-gnu"));
		} catch (error) {
			failed(error);
		}
	},
	"linux-arm64-musl": (use, failed) => {
		try {
			return use(require("../omp-session.linux-arm64-musl.node"));
		} catch (error) {
			failed(error);
		}
		try {
			return use(require("@omp-session/linux-arm64-musl"));
		} catch (error) {
			failed(error);
		}
	},
	"darwin-x64": (use, failed) => {
		try {
			return use(require("../omp-session.darwin-x64.node"));
		} catch (error) {
			failed(error);
		}
		try {
			return use(require("@omp-session/darwin-x64"));
		} catch (error) {
			failed(error);
		}
	},
	"darwin-arm64": (use, failed) => {
		try {
			return use(require("../omp-session.darwin-arm64.node"));
		} catch (error) {
			failed(error);
		}
		try {
			return use(require("@omp-session/darwin-arm64"));
		} catch (error) {
			failed(error);
		}
	},
	"win32-x64-msvc": (use, failed) => {
		try {
			return use(require("../omp-session.win32-x64-msvc.node"));
		} catch (error) {
			failed(error);
		}
		try {
			return use(require("@omp-session/win32-x64-msvc"));
		} catch (error) {
			failed(error);
		}
	},
	"win32-arm64-msvc": (use, failed) => {
		try {
			return use(require("../omp-session.win32-arm64-msvc.node"));
		} catch (error) {
			failed(error);
		}
		try {
			return use(require("@omp-session/win32-arm64-msvc"));
		} catch (error) {
			failed(error);
		}
	},
};

module.exports = { ADDONS };
