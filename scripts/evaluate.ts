import { inspect } from 'node:util'
import { evaluateCommand, EVALUATE_USAGE } from './evaluate/evaluate-command.ts'
import { EXIT } from './evaluate/exit.ts'
import { isExpected } from './command/is-expected.ts'

/** `npm run evaluate`: a testset through an application and evaluators, by a running server. */
const args = process.argv.slice(2)
if (args.length === 0 || args.includes('--help') || args.includes('-h')) {
  process.stdout.write(`${EVALUATE_USAGE}\n`)
} else {
  const stop = new AbortController()
  process.on('SIGINT', () => (stop.signal.aborted ? process.exit(130) : stop.abort()))
  process.on('SIGTERM', () => (stop.signal.aborted ? process.exit(143) : stop.abort()))
  try {
    process.exitCode = await evaluateCommand(args, {
      output: process.stdout,
      progress: process.stderr,
      signal: stop.signal,
      // npm runs scripts in the folder of the package; a commit is meant where the user is
      folder: process.env['INIT_CWD'] ?? process.cwd(),
      environment: process.env,
    })
  } catch (error) {
    // Also of a bug of ours: node's own exit code for one is 1, which tells git bisect that the revision is bad.
    process.stderr.write(`${isExpected(error) ? error.message : inspect(error)}\n`)
    process.exitCode = EXIT.cannot
  }
}
