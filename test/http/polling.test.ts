import { expect } from 'chai'
import type { Fs } from '../../src/storage/files/fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'

describe('http: a caller that polls an environment', () => {
  const looked: string[] = []
  const watched: Fs = {
    ...nodeFs,
    stat: (path) => {
      looked.push(path)
      return nodeFs.stat(path)
    },
  }
  let service: RunningService
  const retrieve = (etag?: string) =>
    service.post(
      '/applications/revisions/retrieve',
      { environment_ref: { slug: 'production' }, application_ref: { slug: 'bot' } },
      etag === undefined ? {} : { 'if-none-match': etag },
    )

  before(async () => {
    service = await startService({ fs: watched })
    await service.post('/simple/applications', {
      application: { slug: 'bot', data: { parameters: { n: 1 } } },
    })
    await service.post('/applications/revisions/deploy', {
      application_ref: { slug: 'bot' },
      environment_ref: { slug: 'production' },
    })
  })
  after(() => service.stop())

  it('pays one look at the refs of the environment and of what is deployed', async () => {
    const { headers } = await retrieve()
    const looks: string[][] = []
    for (let poll = 0; poll < 10; poll++) {
      looked.length = 0
      expect((await retrieve(headers.get('etag') ?? '')).status).to.equal(304)
      looks.push(looked.filter((path) => path.includes('.git')))
    }
    // Once a second every repository is looked at; the polls between those are the ones to judge by.
    const [fewest = []] = looks.sort((a, b) => a.length - b.length)
    expect(fewest).to.not.deep.equal([])
    expect(new Set(fewest).size, 'each folder once').to.equal(fewest.length)
    for (const path of fewest) expect(path).to.match(/\/environments\/production\.git|\/workflows\/bot\.git/)
  })

  it('hears of a new deployment with the next question', async () => {
    const { headers } = await retrieve()
    const { body } = await service.post('/applications/query')
    const { body: simple } = await service.get(`/simple/applications/${body.applications[0].id}`)
    const variant_id = simple.application.variant_id
    await service.post('/applications/revisions/commit', {
      application_revision_commit: { variant_id, data: { parameters: { n: 2 } }, deploy: ['production'] },
    })
    const again = await retrieve(headers.get('etag') ?? '')
    expect(again.status).to.equal(200)
    expect(again.body.application_revision.version).to.equal(2)
  })
})
