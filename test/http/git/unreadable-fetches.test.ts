import { writeFileSync } from 'node:fs'
import { expect } from 'chai'
import { ADMIN_KEY, startService, type RunningService } from '../../service.ts'
import { workflow } from './git-client.ts'

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

  it('a repository that git cannot read is named, with what git says of it', async () => {
    writeFileSync(`${service.repository('bot')}/packed-refs`, 'nonsense\n', { flag: 'a' })
    const refused = await service.get('/git/workflows/bot.git/info/refs?service=git-upload-pack')
    expect([refused.status, refused.body.code]).to.deep.equal([503, 'damaged_repository'])
    expect(refused.body.detail).to.contain('bot')
  })
})
