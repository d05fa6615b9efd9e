import { expect } from 'chai'
import { type RunningService, startService } from '../support/servers/service.ts'

describe('the Content-Length of an answer', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('counts bytes, of an answer that was just made and of one that is kept', async () => {
    const evaluator = { slug: 'exact', data: { uri: 'svc:builtin:auto_exact_match:v0' } }
    const town = '北京 🏙️ Łódź'
    const application = { slug: 'towns', data: { parameters: { town } } }
    const answers = [
      await service.post('/simple/evaluators/', { evaluator: { ...evaluator, name: town } }),
      await service.post('/simple/applications/', { application }),
      await service.post('/applications/revisions/retrieve', { application_variant_ref: { slug: 'towns' } }),
      await service.post('/applications/revisions/retrieve', { application_variant_ref: { slug: 'towns' } }),
      await service.post('/services/mock/v0/invoke', {
        data: { inputs: { town }, parameters: { key: 'echo' } },
      }),
    ]
    for (const { text, headers } of answers) {
      expect(text).to.include(town)
      expect(Number(headers.get('content-length'))).to.equal(Buffer.byteLength(text))
    }
  })
})
