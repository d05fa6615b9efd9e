import { parseArgs } from 'node:util'
import { runTests } from './run-tests.ts'

/** Four browsers edit one testset for minutes, each with random edits of its own. */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '20261128' } },
})
const settings = { BROWSERS_SECONDS: String(Number(values.minutes) * 60), BROWSERS_SEED: values.seed }
process.exitCode = await runTests(['dist/test/web/four-browsers.test.js'], settings)
