import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The tests of the page as `npm test` runs them, in both themes and with the large stores, one file after the other. */
const { status } = spawnSync(
  process.execPath,
  [
    fileURLToPath(new URL('../../../node_modules/mocha/bin/mocha.js', import.meta.url)),
    ...[
      '--no-config',
      '--require',
      './dist/test/memory-disk.js',
      '--require',
      './dist/test/test-settings.js',
    ],
    ...['--timeout', '600000', 'dist/test/web/**/*.test.js'],
  ],
  { stdio: 'inherit', env: { ...process.env, WEB_THEMES: 'both', WEB_ROWS: '1000000' } },
)
process.exitCode = status ?? 1
