import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { KEY, startBranchpoint } from '../../test/support/servers/child-server.ts'
import { ask } from './kill/ask.ts'
import { pushRound } from './kill/push-round.ts'

/**
 * `npm run proof -- push`: pushers and committers over REST on one artifact for a minute. Ends with 1 if anything that was accepted
 * is lost, versions are not consecutive, or `git fsck --strict` finds fault.
 */
const { values: options } = parseArgs({
  options: {
    pushers: { type: 'string', default: '16' },
    committers: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '60' },
    idle: { type: 'string', default: '16000' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'branchpoint-push-'))
const storeDir = join(folder, 'store')
const server = await startBranchpoint(storeDir)
try {
  await ask(server.url, 'POST', '/simple/workflows', {
    workflow: { slug: 'busy', data: { parameters: { n: 0 } } },
  })
  mkdirSync(join(folder, 'clones'))
  const { acknowledged, pushed, shared, problems } = await pushRound({
    url: server.url,
    key: KEY,
    slug: 'busy',
    repository: join(storeDir, 'default', 'workflows', 'busy.git'),
    folder: join(folder, 'clones'),
    pushers: Number(options.pushers),
    committers: Number(options.committers),
    runFor: Number(options.seconds) * 1000,
    idle: Number(options.idle),
  })
  process.stdout.write(
    `${pushed} pushes (${shared} of them to the branch that REST commits to) and ${acknowledged - pushed} commits over REST ` +
      `accepted, ${problems.length} problems\n`,
  )
  for (const problem of problems.slice(0, 10)) process.stdout.write(`  ${problem}\n`)
  if (problems.length > 0) process.exitCode = 1
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
