import { startPostgres } from '../../test/support/postgres/postgres.ts'
import { runTests } from './run-tests.ts'

/**
 * `npm run proof -- engine [FILE …]`: the tests of the HTTP interface, or these of them, run over PostgreSQL in place of files: every service
 * that they start has a database of its own. Ends with mocha's exit code.
 */
const files = process.argv.slice(2)
const postgres = await startPostgres()
try {
  process.exitCode = await runTests(files.length > 0 ? files : ['dist/test/http/**/*.test.js'], {
    TEST_STORE: postgres.url('postgres'),
  })
} finally {
  await postgres.stop()
}
