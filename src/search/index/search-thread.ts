import { DatabaseFiles } from '../../storage/sqlite/database-files.ts'
import { serveFiles } from '../../storage/sqlite/serve-files.ts'
import { openIndexFile } from '../../versioning/index/database/index-file.ts'
import type { SearchWork } from './search-work.ts'
import { doSearchWork } from './search-work.ts'

/** How long this thread waits for another that writes, in milliseconds. */
const BUSY = 5000

/** The program of the thread that looks into the indexes of projects, and writes what is found there. */
const files = new DatabaseFiles((path) => openIndexFile(path, BUSY), BUSY)

serveFiles<SearchWork>(files, (request) => doSearchWork(files.writable(request.file), request))
