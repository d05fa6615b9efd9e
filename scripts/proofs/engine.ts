import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startPostgres } from './support/postgres.ts'

/**
 * `npm run proof -- engine [FILE …]`: the tests of the HTTP interface, or these of them, run over PostgreSQL in place of files: every service
 * that they start has a database of its own. Ends with mocha's exit code.
 */
const BARE = [
  '--no-config',
  ...['--require', './dist/test/memory-disk.js', '--require', './dist/test/test-settings.js'],
  ...['--timeout', '180000'],
]

const files = process.argv.slice(2)
const postgres = await startPostgres()
try {
  const child = spawn(
    process.execPath,
    [
      '--enable-source-maps',
      'node_modules/mocha/bin/mocha.js',
      ...BARE,
      ...(files.length > 0 ? files : ['dist/test/http/**/*.test.js']),
    ],
    { stdio: 'inherit', env: { ...process.env, TEST_STORE: postgres.url('postgres') } },
  )
  const [code] = (await once(child, 'exit')) as [number | null]
  process.exitCode = code ?? 2
} finally {
  await postgres.stop()
}
