import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { Store } from '../../src/git/store/store.ts'
import { ignoreTheDead, mortalFs } from './mortal-fs.ts'

/**
 * A server that moves the workflow `bot` to the trash, or back, in several stores, in each on a disk that is cut off at one step, and is
 * killed in the end: `node removing-process.js <put|back> <store> <step> …`. Prints a line for each store: `killed`, or `done`.
 */
const [way = '', ...jobs] = process.argv.slice(2)
ignoreTheDead()
const outcomes: string[] = []
for (let index = 0; index < jobs.length; index += 2) {
  outcomes.push(await moveIn(jobs[index] ?? '', Number(jobs[index + 1])))
}
process.stdout.write(outcomes.join('\n'), () => process.kill(process.pid, 'SIGKILL'))

async function moveIn(folder: string, step: number): Promise<string> {
  let left = Infinity
  const disk = mortalFs(nodeFs, (_call, die) => {
    if (--left === 0) die()
  })
  const store = await Store.open(disk.fs, folder)
  const project = await store.project('default')
  left = step
  const moved = project.claimingSlugs(() =>
    way === 'put'
      ? project.trash.put('workflows', 'bot', '{"n": 1}\n', {
          others: [`${folder}/default/environments/live.git`],
          check: async () => undefined,
        })
      : project.trash.takeBack('workflows', 'bot'),
  )
  return Promise.race([disk.died, moved.then(() => 'done')])
}
