import { expect } from 'chai'
import { startService, type RunningService } from '../../support/servers/service.ts'

describe('GET /docs', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  /** The page, and what it loads. */
  async function load(path: string) {
    const page = await fetch(service.url + path)
    const text = await page.text()
    const links = [...text.matchAll(/(?:src|href|data-document)="([^"]*)"/g)].map(([, link = '']) => link)
    const addresses = links.map((link) => new URL(link, page.url))
    const script = addresses.find(({ pathname }) => pathname.endsWith('start-viewer.js')) ?? expect.fail(text)
    const imports = [...(await (await fetch(script)).text()).matchAll(/ from '([^']*)'/g)]
    return { page, text, addresses: [...addresses, ...imports.map(([, name = '']) => new URL(name, script))] }
  }

  it('loads all of its files from its own server, wherever the page is found', async () => {
    for (const path of ['/docs', '/docs/', '/api/docs', '/api/docs/?a=/']) {
      const { page, addresses } = await load(path)
      expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8')
      expect(addresses.length, path).to.be.at.least(5)
      for (const address of addresses) {
        expect(address.origin, path).to.equal(service.url)
        const { status, headers } = await fetch(address)
        const type = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' }
        const [, ending = ''] = /\.(js|css)$/.exec(address.pathname) ?? []
        expect([status, headers.get('content-type')], address.href).to.deep.equal([
          200,
          type[ending as 'js'] ?? 'application/json; charset=utf-8',
        ])
      }
    }
  })

  it('runs no script and sends no request that the policy would have to be loosened for', async () => {
    const { page, text } = await load('/docs')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy.split('; ')).to.include.members([
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ])
    expect(policy).to.not.match(/unsafe|https?:/)
    expect(text).to.not.match(/<script>|<script(?![^>]* src=)| on\w+=| style=/)
  })

  it('lets browsers keep what stands under a version, and ask whether the rest has changed', async () => {
    const { addresses } = await load('/docs')
    for (const address of addresses) {
      const first = await fetch(address)
      const isVersioned = /swagger-ui-\d+\.\d+\.\d+\//.test(address.pathname)
      expect(first.headers.get('cache-control'), address.href).to.equal(
        isVersioned ? 'public, max-age=31536000, immutable' : 'no-cache',
      )
      const etag = first.headers.get('etag') ?? ''
      expect((await fetch(address, { headers: { 'if-none-match': etag } })).status).to.equal(304)
    }
    expect(addresses.filter(({ pathname }) => pathname.includes('/swagger-ui-'))).to.have.length(2)
  })

  it('shows every operation of the document in a group with a description, workflows and what is old last', async () => {
    const { addresses } = await load('/docs')
    const address = addresses.find(({ pathname }) => pathname.endsWith('openapi.json')) ?? expect.fail()
    const shown = await (await fetch(address)).text()
    expect(shown).to.equal((await service.get('/openapi.json')).text)
    const { tags, paths, info } = JSON.parse(shown)
    const names: string[] = tags.map(({ name }: { name: string }) => name)
    const used = Object.values<object>(paths).flatMap((methods) =>
      Object.values(methods).flatMap((operation) => operation.tags ?? []),
    )
    expect([...new Set(used)]).to.have.members(names)
    expect(names.slice(0, 2)).to.deep.equal(['simple applications', 'applications'])
    expect(names.slice(-3)).to.deep.equal(['simple workflows', 'workflows', 'legacy'])
    expect(info.description.indexOf('## ')).to.equal(info.description.indexOf('## Authentication'))
  })
})
