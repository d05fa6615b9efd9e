import { runTests } from './run-tests.ts'

/** The tests of the page as `npm run test:rest` runs them, in both themes and with the large stores, one file after the other. */
const settings = { WEB_THEMES: 'both', WEB_ROWS: '1000000' }
process.exitCode = await runTests(['dist/test/web/**/*.test.js'], settings, { timeout: 600_000 })
