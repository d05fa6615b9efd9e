import { DatabaseFiles } from '../../storage/sqlite/database-files.ts'
import { serveFiles } from '../../storage/sqlite/serve-files.ts'
import { openIndexFileAside, THREAD_BUSY_MS } from '../../versioning/index/database/index-file.ts'
import type { SearchWork } from './search-work.ts'
import { doSearchWork } from './search-work.ts'

/** The program of the thread that looks into the indexes of projects, and writes what is found there. */
const files = new DatabaseFiles(openIndexFileAside, THREAD_BUSY_MS)

serveFiles<SearchWork>(files, (request) => doSearchWork(files.writable(request.file), request))
