import { testSandbox } from './test-sandbox.ts'

/** A process whose sandbox runs a script that never ends; it says so once that runs. */
const sandbox = testSandbox({ timeoutMs: 600_000 })
const script = 'function evaluate(endless) { while (endless); }'
await sandbox.call('javascript', script, [false])
void sandbox.call('javascript', script, [true])
setTimeout(() => process.stdout.write('runs'), 500)
