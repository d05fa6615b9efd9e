import { expect } from 'chai'
import { startService, type RunningService } from '../../support/servers/service.ts'

describe('GET /docs/api', () => {
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
    for (const path of ['/docs/api', '/docs/api/', '/api/docs/api', '/api/docs/api/?a=/']) {
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
    const { page, text } = await load('/docs/api')
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
    const { addresses } = await load('/docs/api')
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
    const { addresses } = await load('/docs/api')
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

describe('GET /docs', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('shows the guide: every link and picture of every page leads to something that is there, wherever it is found', async () => {
    const seen = new Map<string, Promise<readonly URL[]>>()
    /** What a page links to. */
    const linksOf = async (url: URL): Promise<readonly URL[]> => {
      const answer = await fetch(url)
      expect(answer.status, url.href).to.equal(200)
      if (!answer.headers.get('content-type')?.startsWith('text/html') || url.pathname.endsWith('/api'))
        return []
      expect(answer.headers.get('content-security-policy'))
        .to.contain("default-src 'none'")
        .and.not.contain('unsafe')
      const text = await answer.text()
      expect(text).to.not.contain('@up@')
      const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
      const links = [...text.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, link = '']) => new URL(link, url))
      for (const { origin, pathname, hash } of links)
        if (origin === service.url && pathname === url.pathname && hash !== '')
          expect(ids).to.include(hash.slice(1))
      return links.filter(({ origin }) => origin === service.url)
    }
    const follow = async (url: URL): Promise<void> => {
      const address = url.origin + url.pathname
      if (seen.has(address)) return
      const links = linksOf(new URL(address))
      seen.set(address, links)
      for (const link of await links) await follow(link)
    }
    await follow(new URL('/docs', service.url))
    for (const other of ['/docs/', '/api/docs', '/api/docs/guide/prompts/'])
      for (const { origin, pathname } of await linksOf(new URL(other, service.url)))
        expect([...seen.keys()], other).to.include(origin + pathname.replace(/^\/api/, ''))
    for (const page of [
      '/docs/guide/testsets',
      '/docs/operations/keys',
      '/docs/interface',
      '/docs/pictures/history.svg',
    ])
      expect([...seen.keys()]).to.include(service.url + page)
    const first = await (await fetch(`${service.url}/docs`)).text()
    expect(first).to.contain('<h1 id="guide">Guide</h1>').and.contain('href="docs/guide/prompts"')
  })
})
