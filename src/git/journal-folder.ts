/** The folder of journals in a store. */
export const JOURNAL_FOLDER = '.journal'
