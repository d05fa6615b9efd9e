import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../src/cli/command/usage-error.ts'
import { runTests } from './run-tests.ts'

/**
 * `npm run proof -- samples [TIMES]`: the tests that compare a random sample with git (test/samples.ts), with a sample ten or so many times as
 * large as that of `npm test`, which it begins with.
 */
const USAGE = 'npm run proof -- samples [TIMES]   a whole number above 0; 10 unless given'

const TESTS = 'dist/test'
const [times = '10'] = process.argv.slice(2)
if (!/^[1-9][0-9]*$/.test(times)) throw new UsageError(`"${times}" is no number of times.`, USAGE)
const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
  .map((name) => join(TESTS, name))
  .filter((path) => path.endsWith('.test.js') && readFileSync(path, 'utf8').includes('samples('))
process.exitCode = await runTests(files, { SAMPLES: times }, { timeout: 3_600_000 })
