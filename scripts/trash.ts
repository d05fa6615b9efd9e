import { chosenServer } from './command/chosen-server.ts'
import { isExpected } from './command/is-expected.ts'
import { trashCommand, TRASH_USAGE } from './trash/trash-command.ts'

/** `npm run trash`: what was removed from a running server's project, and how to remove and bring back. */
const args = process.argv.slice(2)
try {
  const isHelp = args.length === 0 || args.includes('--help') || args.includes('-h')
  const output = isHelp ? TRASH_USAGE : await trashCommand(args, chosenServer({}, process.env, TRASH_USAGE))
  process.stdout.write(`${output}\n`)
} catch (error) {
  if (!isExpected(error)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
