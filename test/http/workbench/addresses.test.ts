import { expect } from 'chai'
import { startService } from '../../support/servers/service.ts'
import { publicAddresses } from '../../../src/http/app.ts'
import { SessionDoor } from '../../../src/http/request.ts'
import { PAGES } from '../../../src/http/workbench/addresses.ts'

/** Addresses below which middleware answers that is no endpoint. */
const OTHERS = ['/git', '/assets', '/api', '/preview']

describe('addresses of pages', () => {
  it('begin with no segment that a route of REST begins with', async () => {
    const service = await startService()
    const { body } = await service.get('/openapi.json')
    await service.stop()
    const unused = (): never => expect.fail('no route is asked here')
    const routes = [
      ...Object.keys(body.paths),
      ...Object.keys(
        publicAddresses({
          readiness: unused,
          authenticate: unused,
          door: new SessionDoor({ find: unused }, undefined),
          metrics: unused,
          openApi: unused,
        }),
      ),
      ...OTHERS,
    ]
    const firstSegments = new Set(routes.map((route) => route.split('/')[1]))
    expect(firstSegments).to.include.keys('workflows', 'health', 'keys', 'docs')
    const pages = Object.values(PAGES)
    expect(pages.filter((page) => firstSegments.has(page))).to.deep.equal([])
    expect(new Set(pages).size).to.equal(pages.length)
  })
})
