import { runCommandLine } from './cli/run-command-line.ts'

await runCommandLine(['serve', ...process.argv.slice(2)])
