import { recoverForDeadServers } from '../../src/git/store/store.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { ignoreTheDead, mortalFs } from './mortal-fs.ts'

/**
 * Finishes what dead processes of several stores left, in each on a disk that is cut off at one step, and is killed in the end:
 * `node finishing-process.js <store> <step> …`. Prints a line for each store: `killed`, or `survived` if there were not so many steps.
 */
const jobs = process.argv.slice(2)
ignoreTheDead()
const outcomes: string[] = []
for (let index = 0; index < jobs.length; index += 2) {
  let left = Number(jobs[index + 1])
  const disk = mortalFs(nodeFs, (_call, die) => {
    if (--left === 0) die()
  })
  // What a thread does could not be cut off.
  const { fs } = disk
  const finished = recoverForDeadServers(fs, jobs[index] ?? '').then(() => 'survived')
  outcomes.push(await Promise.race([disk.died, finished]))
}
process.stdout.write(outcomes.join('\n'), () => process.kill(process.pid, 'SIGKILL'))
