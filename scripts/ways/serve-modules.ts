import { runCommandLine } from '../../src/cli/run-command-line.ts'

// As src/main.ts does. The file that tsc makes of that one is replaced by the bundle's (decision 38), in which no function has a file.
await runCommandLine(['serve'])
