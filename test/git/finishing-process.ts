import { finishForTheDead } from '../../src/git/finish-for-the-dead.ts'
import { nodeFs } from '../../src/git/node-fs.ts'
import { failingFs } from './failing-fs.ts'

/**
 * Finishes what dead processes of a store left, on a disk that kills this process at one step: `node finishing-process.js <store>
 * <step>`. Prints `survived` if there were not so many steps.
 */
const [folder = '', step = ''] = process.argv.slice(2)
let left = Number(step)
const disk = failingFs(nodeFs)
disk.failIf(() => {
  if (--left === 0) process.kill(process.pid, 'SIGKILL')
  return false
})
await finishForTheDead(disk.fs, folder)
process.stdout.write('survived')
