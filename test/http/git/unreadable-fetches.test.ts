import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../../support/servers/service.ts'
import { pktLine } from '../../../src/http/git/pkt-line.ts'
import { cloneIn, newFolder, remoteOf, workflow } from '../../support/git/git-client.ts'

describe('git over HTTP: fetches that git cannot read', () => {
  let service: RunningService
  beforeEach(async () => {
    service = await startService()
    await workflow(service, 'bot')
  })
  afterEach(() => service.stop())

  for (const [body, protocol] of [
    ['x', ''],
    ['zzzz', 'version=2'],
    ['0009done\n', ''],
    ['0009done\n', 'version=2'],
    ['0014command=ls-refs\n0000', ''],
  ] as const) {
    it(`${JSON.stringify(body)} ${protocol} is the client’s fault`, async () => {
      const type = 'application/x-git-upload-pack-request'
      const headers = { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': type, 'git-protocol': protocol }
      const address = `${service.url}/git/workflows/bot.git/git-upload-pack`
      const answer = await fetch(address, { method: 'POST', headers, body })
      expect([answer.status, await answer.text()]).to.satisfy(
        ([status, text]: [number, string]) => status === 400 && text.includes('cannot be read'),
      )
    })
  }

  for (const [what, lines, protocol] of [
    ['a depth below zero', ['deepen -1'], 'version=2'],
    ['a filter that git does not know', ['filter sparse:path=x'], 'version=2'],
    ['history without a branch that is not there', ['deepen-not nosuch'], 'version=2'],
    ['a depth below zero', ['deepen -1'], ''],
    ['history without a branch that is not there', ['deepen-not nosuch'], ''],
  ] as const) {
    it(`${what} (${protocol || 'version 0'}) is a sentence about the request, with no path of the server`, async () => {
      const head = git(service.repository('bot'), ['rev-parse', 'bot'])
      const asked = (want: string) => [want, ...lines].map((line) => pktLine(`${line}\n`).toString()).join('')
      const done = pktLine('done\n').toString()
      const body =
        protocol === ''
          ? `${asked(`want ${head} shallow deepen-not`)}0000${done}`
          : `${pktLine('command=fetch').toString()}0001${asked(`want ${head}`)}${done}0000`
      const type = 'application/x-git-upload-pack-request'
      const headers = { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': type, 'git-protocol': protocol }
      const address = `${service.url}/git/workflows/bot.git/git-upload-pack`
      const answer = await fetch(address, { method: 'POST', headers, body })
      const text = await answer.text()
      expect(answer.status, text).to.equal(200)
      expect(text).to.match(
        /^[0-9a-f]{4}ERR git cannot answer this fetch: .*Ask for what workflows\/bot has\.$/s,
      )
      expect(text).to.not.include(service.storeDir)
    })
  }

  it('git shows it on the terminal', async () => {
    const clone = cloneIn(newFolder())
    const { code, terminal } = await clone.try(
      'clone',
      '-q',
      '--shallow-exclude=nosuch',
      remoteOf(service, 'bot'),
      '.',
    )
    expect(code).to.equal(128)
    expect(terminal).to.include('remote error: git cannot answer this fetch: ').and.include('nosuch')
  })

  it('a repository that git cannot read is named, with what git says of it', async () => {
    writeFileSync(`${service.repository('bot')}/packed-refs`, 'nonsense\n', { flag: 'a' })
    const refused = await service.get('/git/workflows/bot.git/info/refs?service=git-upload-pack')
    expect([refused.status, refused.body.code]).to.deep.equal([503, 'damaged_repository'])
    expect(refused.body.detail).to.contain('bot')
    const asked = await service.call(
      'POST',
      '/git/workflows/bot.git/git-upload-pack',
      '0011command=fetch0001000edeepen -1\n0000',
      {
        'content-type': 'application/x-git-upload-pack-request',
        'git-protocol': 'version=2',
      },
    )
    expect([asked.status, asked.body.code]).to.deep.equal([503, 'damaged_repository'])
  })
})
