import { writeSync } from 'node:fs'
import { failingFs } from '../support/disk/failing-fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { startService } from '../support/servers/service.ts'

/**
 * A server that kills itself before the first step on the disk that fits: `node doomed-server.js <store> <step>`, a regular
 * expression of `<call> <path>`. Prints its address once it serves. With `wait` behind the step, it says that it is there and stops,
 * so that somebody else can kill it: process 1 of a container cannot kill itself. Without a step it serves.
 */
const [storeDir = '', step, how = 'kill'] = process.argv.slice(2)
const disk = failingFs(nodeFs)
disk.failIf((call, path) => {
  if (step === undefined || !new RegExp(step).test(`${call} ${path}`)) return false
  if (how === 'kill') process.kill(process.pid, 'SIGKILL')
  writeSync(1, 'at the step\n')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  return false
})
const { url } = await startService({ storeDir, fs: disk.fs })
process.stdout.write(`${url}\n`)
