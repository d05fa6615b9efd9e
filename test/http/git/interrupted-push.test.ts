import { expect } from 'chai'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../../support/servers/service.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { identityName, thisProcess } from '../../../src/storage/files/process-identity.ts'
import { workflow } from '../../support/git/git-client.ts'

describe('git: a push that breaks off', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
    await workflow(service, 'bot')
  })
  after(() => service.stop())

  const quarantines = (): string[] =>
    readdirSync(`${service.repository('bot')}/objects`).filter((name) => name.startsWith('incoming-'))

  const spools = (): string[] => {
    const folder = `${service.storeDir}/.uploads`
    return existsSync(folder) ? readdirSync(folder) : []
  }

  it('a client that goes away in the middle of its pack leaves nothing', async () => {
    const repository = service.repository('bot')
    const before = git(repository, ['for-each-ref'])
    const head = git(repository, ['rev-parse', 'HEAD'])
    const command = `${head} ${'1'.repeat(40)} refs/heads/bot\0report-status side-band-64k`
    const line = `${(command.length + 4).toString(16).padStart(4, '0')}${command}0000`
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /git/workflows/bot.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${ADMIN_KEY}\r\n` +
        `Content-Type: application/x-git-receive-pack-request\r\nContent-Length: 200000\r\n\r\n${line}PACK\0\0\0\x02\0\0\0\x05${'x'.repeat(100_000)}`,
    )
    await until(() => spools().length === 1)
    socket.destroy()
    await until(() => spools().length === 0)
    expect(quarantines()).to.deep.equal([])
    expect(git(repository, ['for-each-ref'])).to.equal(before)
    expect(
      readdirSync(`${repository}/objects/pack`).filter((name) => !/^pack-.*\.(pack|idx)$/.test(name)),
    ).to.deep.equal([])
  })

  it('what a dead process left is swept at the next start, what a living one has is not', async () => {
    const repository = service.repository('bot')
    const dead = `${repository}/objects/incoming-${identityName({ ...thisProcess(), pid: 1, start: '1' })}.1`
    const alive = `${repository}/objects/incoming-${identityName(thisProcess())}.999`
    for (const folder of [dead, alive]) mkdirSync(`${folder}/objects/pack`, { recursive: true })
    await service.stop({ keepStore: true })
    service = await startService({ storeDir: service.storeDir })
    await until(() => !existsSync(dead))
    expect(existsSync(alive)).to.equal(true)
    nodeFs.removeTree(alive)
  })
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(5)
}
