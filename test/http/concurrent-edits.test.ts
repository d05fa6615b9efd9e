import { expect } from 'chai'
import { startService } from '../support/servers/service.ts'

describe('http: edits at once', () => {
  it('of different roles of one artifact lose none', async () => {
    const service = await startService()
    try {
      const roles = ['is_application', 'is_evaluator', 'is_snippet']
      const { id } = (await service.post('/workflows', { workflow: { slug: 'bot' } })).body.workflow
      for (const value of [true, false, true]) {
        await Promise.all(
          roles.map((role) => service.put(`/workflows/${id}`, { workflow: { [role]: value } })),
        )
        const { flags } = (await service.get(`/workflows/${id}`)).body.workflow
        expect(roles.map((role) => flags[role])).to.deep.equal([value, value, value])
      }
    } finally {
      await service.stop()
    }
  })
})
