/** Storage objects: where sessions are kept if not in the file system. */

export interface SessionStorageStat {
	/** Bytes. */
	size: number;
	/** Milliseconds since 1970. */
	mtimeMs: number;
	mtime: Date;
}

/** Appends to one file. Its errors reach the caller of the session manager as they are. */
export interface SessionStorageWriter {
	/** `line` ends in a newline. */
	writeLine(line: string): Promise<void>;
	flush(): Promise<void>;
	fsync(): Promise<void>;
	close(): Promise<void>;
	getError(): Error | undefined;
}

/** What a storage object has to have. Every method may throw or reject. */
export interface SessionStorage {
	ensureDirSync(dir: string): void;
	existsSync(path: string): boolean;
	writeTextSync(path: string, content: string): void;
	statSync(path: string): SessionStorageStat;
	/** Files directly in `dir` whose name matches `*.jsonl` or another such pattern, as full paths. */
	listFilesSync(dir: string, pattern: string): string[];
	exists(path: string): Promise<boolean>;
	readText(path: string): Promise<string>;
	/** `maxBytes`: bytes of UTF-8. */
	readTextPrefix(path: string, maxBytes: number): Promise<string>;
	writeText(path: string, content: string): Promise<void>;
	rename(path: string, nextPath: string): Promise<void>;
	unlink(path: string): Promise<void>;
	openWriter(path: string, options?: { flags?: "a" | "w"; onError?: (error: Error) => void }): SessionStorageWriter;
}

/** The file system. Passing one to a session manager is the same as passing none. */
export class FileSessionStorage implements SessionStorage {
	ensureDirSync(dir: string): void;
	existsSync(path: string): boolean;
	writeTextSync(path: string, content: string): void;
	statSync(path: string): SessionStorageStat;
	listFilesSync(dir: string, pattern: string): string[];
	exists(path: string): Promise<boolean>;
	readText(path: string): Promise<string>;
	readTextPrefix(path: string, maxBytes: number): Promise<string>;
	writeText(path: string, content: string): Promise<void>;
	rename(path: string, nextPath: string): Promise<void>;
	unlink(path: string): Promise<void>;
	openWriter(path: string, options?: { flags?: "a" | "w"; onError?: (error: Error) => void }): SessionStorageWriter;
	/** Removes a session's file, its artifact folder, its backups and its temporary files. */
	deleteSessionWithArtifacts(sessionPath: string): Promise<void>;
}

/** Keeps files in memory, for tests and for sessions that shall leave nothing behind. */
export class MemorySessionStorage implements SessionStorage {
	ensureDirSync(dir: string): void;
	existsSync(path: string): boolean;
	writeTextSync(path: string, content: string): void;
	statSync(path: string): SessionStorageStat;
	listFilesSync(dir: string, pattern: string): string[];
	exists(path: string): Promise<boolean>;
	readText(path: string): Promise<string>;
	readTextPrefix(path: string, maxBytes: number): Promise<string>;
	writeText(path: string, content: string): Promise<void>;
	rename(path: string, nextPath: string): Promise<void>;
	unlink(path: string): Promise<void>;
	openWriter(path: string, options?: { flags?: "a" | "w"; onError?: (error: Error) => void }): SessionStorageWriter;
}
