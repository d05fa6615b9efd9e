import type { Fs, LogHandle } from '../../src/git/fs.ts'
import { nodeFs } from '../../src/git/node-fs.ts'
import { deploy, openDeployed } from './deployment.ts'

/**
 * A server that deploys (see deployment.ts) on a disk that at one step kills the process, or fails, whereupon it stops as it
 * always does: `node deploying-process.js <store> <kill|fail> <step>`, the first step being to write the journal. Prints what
 * became of it: `done`, or the code of the error; and `survived` if there were not so many steps.
 */
const [folder = '', mode = '', step = ''] = process.argv.slice(2)
let left = Infinity
const { store, deployed } = await openDeployed(
  interrupted((call) => {
    if (call === 'append' && left === Infinity) left = Number(step)
    if (--left !== 0) return
    if (mode === 'kill') process.kill(process.pid, 'SIGKILL')
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  }),
  folder,
)
const outcome = await deploy(deployed).then(
  () => 'done',
  (error: NodeJS.ErrnoException) => error.code,
)
const isOver = left > 0
left = 0
process.stdout.write(isOver ? `${outcome} survived` : `${outcome}`)
await store.close()

function interrupted(check: (call?: string) => void): Fs {
  const log = (handle: LogHandle): LogHandle => ({
    ...handle,
    append: (bytes) => (check('append'), handle.append(bytes)),
    sync: async () => (check(), handle.sync()),
  })
  return {
    ...nodeFs,
    create: (path, bytes) => (check(), nodeFs.create(path, bytes)),
    createSynced: async (path, bytes) => (check(), nodeFs.createSynced(path, bytes)),
    createLog: (path) => (check(), log(nodeFs.createLog(path))),
    makeDir: (path) => (check(), nodeFs.makeDir(path)),
    rename: (from, to) => (check(), nodeFs.rename(from, to)),
    link: (from, to) => (check(), nodeFs.link(from, to)),
    remove: (path) => (check(), nodeFs.remove(path)),
    syncDir: async (path) => (check(), nodeFs.syncDir(path)),
  }
}
