import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { repositoriesLine } from '../../../../src/cli/backup/follow-all.ts'
import { withoutProgress } from '../../without-progress.ts'
import type { SmallStore } from './small-store.ts'
import { startSmallStore } from './small-store.ts'

const MAIN = fileURLToPath(new URL('../../../../src/cli/main.js', import.meta.url))

describe('branchpoint backup, branchpoint restore: the programs', () => {
  let store: SmallStore
  beforeEach(async () => {
    store = await startSmallStore()
    await store.workflow('a')
  })
  afterEach(() => store.stop())

  const run = (program: string, ...args: readonly string[]) => {
    const env = { ...process.env, STORE_DIR: store.storeDir }
    const whole = [MAIN, program, ...args]
    const { status, stdout, stderr } = spawnSync(process.execPath, whole, { encoding: 'utf8', env })
    return { status, stdout, stderr: withoutProgress(stderr) }
  }

  it('end with 0 when all went well, with 1 and names on standard error when something did not', async () => {
    expect(run('backup', '--to', store.backupDir)).to.include({ status: 0, stderr: '' })
    const restored = run('restore', '--from', store.backupDir, '--store', join(store.folder, 'target'))
    expect(restored).to.include({ status: 0, stderr: '' })
    expect(restored.stdout).to.match(
      /^Restored .*: 4 repositories, 4 restored, .* s\nAPI keys, secrets, webhooks and the logs of evaluations were not restored \(--state\); /,
    )
    const packs = join(store.service.repository('staging', 'environments'), 'objects', 'pack')
    rmSync(packs, { recursive: true })
    rmSync(store.mirror('staging', 'environments'), { recursive: true })
    const failed = run('backup', '--to', store.backupDir)
    expect(failed.status).to.equal(1)
    expect(failed.stderr).to.match(/^failed: default\/environments\/staging: .*\n$/)
    expect(failed.stdout).to.contain(' 3 as they were, 1 failed')
  })

  it('explain themselves, and refuse what they do not know without a stack', () => {
    expect(run('backup', '--help'))
      .to.include({ status: 0 })
      .and.has.property('stdout')
      .that.contains('--to DIR')
    expect(run('restore')).to.include({ status: 0 }).and.has.property('stdout').that.contains('--from DIR')
    const { status, stderr } = run('restore', '--from', store.folder)
    expect(status).to.equal(1)
    expect(stderr).to.match(/^\S+ holds no backup\.json, so it is not a backup\. .*\n$/)
  })

  it('stop at Ctrl-C, with every mirror whole', async () => {
    // A git that takes its time.
    const bin = join(store.folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'git'), `#!/bin/sh\ntouch "${store.folder}/begun"\nexec sleep 20\n`)
    chmodSync(join(bin, 'git'), 0o755)
    const env = { ...process.env, STORE_DIR: store.storeDir, PATH: `${bin}:${process.env['PATH']}` }
    const child = spawn(process.execPath, [MAIN, 'backup', '--to', store.backupDir], { env })
    let said = ''
    child.stderr.on('data', (chunk) => (said += chunk))
    const closed = once(child, 'close')
    while (!readdirSync(store.folder).includes('begun'))
      await new Promise((resolve) => setTimeout(resolve, 10))
    child.kill('SIGINT')
    expect(await closed).to.deep.equal([130, null])
    expect(withoutProgress(said)).to.equal(
      'Stopped; what is mirrored is whole, and the next run goes on from there.\n',
    )
    expect(readdirSync(join(store.backupDir, 'default', 'environments'))).to.deep.equal([])
    expect(run('backup', '--to', store.backupDir).stdout).to.contain(' 4 new, ')
  })

  it('show how far they are', () => {
    expect(repositoriesLine(1200, 2850, 3)).to.equal(
      '[####......]  42 %  1,200 of 2,850 repositories  3 changed',
    )
    expect(repositoriesLine(0, 0, 0)).to.equal('[##########] 100 %  0 of 0 repositories  0 changed')
  })
})
