import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { deploy, openDeployed } from './deployment.ts'
import { ignoreTheDead, mortalFs } from './mortal-fs.ts'

/**
 * A server that deploys (see deployment.ts) in several stores, in each on a disk that at one step is cut off, or fails, whereupon it
 * stops as it always does: `node deploying-process.js <kill|fail> <store> <step> …`, the first step being to write the journal. Prints
 * a line for each store: `killed`, `done` or the code of the error; `survived` behind it if there were not so many steps. With `kill`
 * it is killed in the end.
 */
const [mode = '', ...jobs] = process.argv.slice(2)
ignoreTheDead()
const outcomes: string[] = []
for (let index = 0; index < jobs.length; index += 2) {
  outcomes.push(await deployIn(jobs[index] ?? '', Number(jobs[index + 1])))
}
process.stdout.write(outcomes.join('\n'), () => {
  if (mode === 'kill') process.kill(process.pid, 'SIGKILL')
})

async function deployIn(folder: string, step: number): Promise<string> {
  let left = Infinity
  const disk = mortalFs(nodeFs, (call, die) => {
    if (call === 'log.append' && left === Infinity) left = step
    if (--left !== 0) return
    if (mode === 'kill') die()
    else throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  })
  const { store, deployed } = await openDeployed(disk.fs, folder)
  const outcome = deploy(deployed).then(
    () => 'done',
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  )
  const ended = await Promise.race([disk.died, outcome])
  if (ended === 'killed') return ended
  const isOver = left > 0
  left = 0
  await store.close()
  return isOver ? `${ended} survived` : ended
}
