import { DatabaseFiles, serveFiles } from '../../../storage/sqlite.ts'
import { openIndexFileAside, THREAD_BUSY_MS } from '../../../registry/registries.ts'
import { doSearchWork, type SearchWork } from './search-work.ts'

/**
 * The program of the thread that reads and writes the search tables. It opens only the very files that the index has open: meanwhile another
 * store, or an unfinished file, may be at the same path.
 */
const files = new DatabaseFiles(openIndexFileAside, THREAD_BUSY_MS)

serveFiles<SearchWork>(files, ({ file, inodes = '', work, asks }) =>
  doSearchWork(files.same(file, inodes), work, asks),
)
