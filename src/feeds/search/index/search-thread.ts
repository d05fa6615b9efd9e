import { DatabaseFiles, serveFiles } from '../../../storage/sqlite.ts'
import { openIndexFileAside, THREAD_BUSY_MS } from '../../../registry/registries.ts'
import { doSearchWork, type SearchWork } from './search-work.ts'

/**
 * The program of the thread that looks into the indexes of projects, and writes what is found there. It opens no other files than those that
 * the index has open: another store may lie there by now, or one that is not whole yet.
 */
const files = new DatabaseFiles(openIndexFileAside, THREAD_BUSY_MS)

serveFiles<SearchWork>(files, ({ file, inodes = '', work, asks }) =>
  doSearchWork(files.same(file, inodes), work, asks),
)
