import { failingFs } from '../support/disk/failing-fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { startService } from '../support/servers/service.ts'

/**
 * A server that kills itself before the first step on the disk that fits: `node doomed-server.js <store> <step>`, a regular
 * expression of `<call> <path>`. Prints its address once it serves.
 */
const [storeDir = '', step = ''] = process.argv.slice(2)
const disk = failingFs(nodeFs)
disk.failIf((call, path) => {
  if (new RegExp(step).test(`${call} ${path}`)) process.kill(process.pid, 'SIGKILL')
  return false
})
const { url } = await startService({ storeDir, fs: disk.fs })
process.stdout.write(`${url}\n`)
