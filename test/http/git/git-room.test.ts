import { expect } from 'chai'
import { acquireForGit } from '../../../src/http/git/git-room.ts'
import { Semaphore } from '../../../src/base/scheduling/semaphore.ts'

describe('http: permits of git', () => {
  it('are refused to a project of which many wait, and to no other', async () => {
    const permits = new Semaphore(1)
    const gone = new AbortController()
    const ask = (project: string) => acquireForGit(permits, project, gone.signal)
    const release = await ask('flood')
    const waiting = [1, 2, 3, 4].map(() => ask('flood').catch(() => undefined))
    const refused = await ask('flood').catch((error: unknown) => error)
    expect(refused).to.have.property('code', 'overloaded')
    const calm = ask('calm')
    gone.abort()
    await Promise.all([...waiting, calm.catch(() => undefined)])
    release()
    expect(permits.load).to.deep.equal({ running: 0, waiting: 0 })
  })
})
