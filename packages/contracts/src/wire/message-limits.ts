/** Largest message that either side of an agent's stream takes, in bytes: rendered configs fit, a runaway log does not. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** What the config files of one command may have together, in bytes; the rest of its message has room beside them. */
export const MAX_CONFIG_BYTES = MAX_MESSAGE_BYTES - 64 * 1024;

/** Config files that one command may change. */
export const MAX_CONFIG_FILES = 64;
