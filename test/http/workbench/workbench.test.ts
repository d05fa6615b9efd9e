import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { type Door, openDoor } from '../door.ts'
import { rawRequest } from '../raw-request.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const SCRIPT = `export const words = ${JSON.stringify('a prompt '.repeat(500))}`
const HTML = '<!doctype html>\n<html>\n<head>\n<title>Built</title>\n</head>\n<body></body>\n</html>\n'

describe('the page', () => {
  let folder: string
  let door: Door
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'page-'))
    mkdirSync(join(folder, 'web/assets'), { recursive: true })
    writeFileSync(join(folder, 'web/index.html'), HTML)
    writeFileSync(join(folder, 'web/icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
    writeFileSync(join(folder, 'web/assets/index-1a2b.js'), SCRIPT)
    writeFileSync(join(folder, 'web/assets/face-9f.woff2'), Buffer.alloc(3000))
    writeFileSync(join(folder, 'secret.txt'), 'secret')
    symlinkSync(join(folder, 'secret.txt'), join(folder, 'web/assets/linked.txt'))
    symlinkSync(folder, join(folder, 'web/assets/up'))
    door = await openDoor(
      (router) => {
        router.get('/settings/keys', (ctx) => (ctx.body = 'rest'))
        router.get('/elsewhere', (ctx) => (ctx.body = 'rest'))
      },
      { pageFolder: join(folder, 'web') },
    )
  })
  after(async () => {
    await door.close()
    rmSync(folder, { recursive: true })
  })

  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    fetch(door.url + path, { method, headers })

  for (const path of [
    '/',
    '/?from=mail',
    '/a/support-bot',
    '/a/x/v/main/12',
    '/env',
    '/eval/1...2',
    '/settings/keys',
    '/signin',
    '/trace/',
    '/t/no/such/page',
  ]) {
    it(`is what a browser gets at ${path}, without a key`, async () => {
      const response = await ask(path, { accept: BROWSER })
      expect([response.status, response.headers.get('content-type')]).to.deep.equal([
        200,
        'text/html; charset=utf-8',
      ])
      expect(response.headers.get('vary')).to.equal('Accept')
      expect(response.headers.get('cache-control')).to.equal('no-cache')
      expect(await response.text()).to.contain('<title>Built</title>')
      expect((await ask(path, { accept: BROWSER }, 'HEAD')).status).to.equal(200)
    })
  }

  it('is nothing under /api, nowhere else, and for nobody who does not prefer HTML', async () => {
    for (const [path, accept] of [
      ['/api/a/support-bot', BROWSER],
      ['/api/settings/keys', BROWSER],
      ['/elsewhere', BROWSER],
      ['/settings/keys', 'application/json'],
      ['/settings/keys', '*/*'],
      ['/apple', '*/*'],
      ['/apple', 'application/json'],
      ['/apple/pie', BROWSER],
      ['/git', BROWSER],
    ] as const) {
      const response = await ask(path, { accept })
      expect([response.status, response.headers.get('content-type')], path).to.deep.equal([
        401,
        'application/problem+json',
      ])
    }
    expect((await ask('/settings/keys', { accept: '*/*' })).headers.get('vary')).to.equal('Accept')
    const authorization = 'ApiKey svc_test'
    expect(await (await ask('/settings/keys', { authorization })).text()).to.equal('rest')
    expect((await ask('/a/b', { authorization })).status).to.equal(404)
    for (const path of ['/api', '/api/'])
      expect((await ask(path, { accept: BROWSER })).headers.get('content-type'), path).to.match(/json/)
  })

  it('is the "not found" of an address of one segment that begins no route, where HTML is preferred', async () => {
    for (const path of ['/apple', '/apple/', '/apple?x=1', '/robots.txt', '/Env', '/%61pple']) {
      const response = await ask(path, { accept: BROWSER })
      expect(
        [response.status, response.headers.get('content-type'), response.headers.get('vary')],
        path,
      ).to.deep.equal([404, 'text/html; charset=utf-8', 'Accept'])
      expect(await response.text()).to.contain('<title>Built</title>')
    }
    // What begins a route stays with REST, also where that route takes no GET.
    const own = { accept: BROWSER, authorization: 'ApiKey svc_test' }
    for (const path of ['/health', '/elsewhere', '/docs'])
      expect((await ask(path, own)).status, path).to.equal(200)
    expect(
      (await ask('/apple', { ...own, accept: 'application/json' })).headers.get('content-type'),
    ).to.equal('application/problem+json')
    expect((await ask('/apple', { accept: BROWSER }, 'POST')).status).to.equal(401)
  })

  it('is answered to GET and HEAD only', async () => {
    expect((await ask('/', { accept: BROWSER }, 'POST')).status).to.equal(405)
    expect((await ask('/a/x', { accept: BROWSER }, 'POST')).status).to.equal(401)
  })

  it('runs no script but those of its files, is framed by nobody, and has a nonce of its own each time', async () => {
    const nonces = new Set<string>()
    for (const path of ['/', '/', '/a/x']) {
      const response = await ask(path, { accept: BROWSER })
      const [, nonce = ''] = /<meta name="csp-nonce" content="([^"]+)">/.exec(await response.text()) ?? []
      expect(Buffer.from(nonce, 'base64')).to.have.length(16)
      nonces.add(nonce)
      expect(response.headers.get('content-security-policy')?.split('; ')).to.deep.equal([
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonce}'`,
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ])
      for (const [header, value] of [
        ['x-frame-options', 'DENY'],
        ['cross-origin-opener-policy', 'same-origin'],
        ['referrer-policy', 'same-origin'],
        ['x-content-type-options', 'nosniff'],
      ] as const)
        expect(response.headers.get(header), header).to.equal(value)
    }
    expect(nonces).to.have.length(3)
  })

  it('has files whose names hold a hash kept for a year, and asks for the others each time', async () => {
    const script = await ask('/assets/index-1a2b.js')
    expect(await script.text()).to.equal(SCRIPT)
    expect(script.headers.get('content-type')).to.equal('text/javascript; charset=utf-8')
    expect(script.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable')
    expect(script.headers.get('x-content-type-options')).to.equal('nosniff')
    const icon = await ask('/icon.svg')
    expect(icon.headers.get('content-type')).to.equal('image/svg+xml; charset=utf-8')
    expect(icon.headers.get('cache-control')).to.equal('no-cache')
    const etag = icon.headers.get('etag') ?? ''
    expect((await ask('/icon.svg', { 'if-none-match': etag })).status).to.equal(304)
  })

  it('has them compressed for whoever takes that, but for what is compressed already', async () => {
    for (const encoding of ['br', 'gzip']) {
      const script = await ask('/assets/index-1a2b.js', { 'accept-encoding': encoding })
      expect(script.headers.get('content-encoding')).to.equal(encoding)
      expect(script.headers.get('vary')).to.equal('Accept-Encoding')
      expect(await script.text()).to.equal(SCRIPT)
    }
    const face = await ask('/assets/face-9f.woff2', { 'accept-encoding': 'br' })
    expect(face.headers.get('content-encoding')).to.equal(null)
  })

  it('has no file but its own: no path leads elsewhere, no link is followed, and 404 is not kept', async () => {
    for (const path of [
      '/assets/none.js',
      '/assets/linked.txt',
      '/assets/up/secret.txt',
      '/assets/../../secret.txt',
      '/assets/..%2f..%2fsecret.txt',
      '/assets/%2e%2e/%2e%2e/secret.txt',
      '/assets//index-1a2b.js',
      '/assets/index-1a2b.js%00',
      '/assets/..\\..\\secret.txt',
      '/assets',
    ]) {
      const text = await rawRequest(door.url, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      expect(text, path).to.match(/^HTTP\/1.1 404 /)
      expect(text, path).to.match(/Cache-Control: no-store/i)
      expect(text, path).to.contain('"code":"file_not_found"')
    }
    // What is not below /assets/ is REST's.
    for (const path of ['/index.html', '/secret.txt', '/../secret.txt']) {
      const text = await rawRequest(door.url, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      expect(text, path).to.match(/^HTTP\/1.1 401 /)
    }
  })

  it('leads nobody elsewhere, and says nothing that was sent', async () => {
    for (const path of [
      '//evil.example',
      '//evil.example/a/x',
      '/a//evil.example',
      '/signin?next=https://evil.example',
      '/a/%0d%0aSet-Cookie:%20x=1',
      '/a/..//evil.example',
      '/\\evil.example',
      '/a/"><script>alert(1)</script>',
      'https://evil.example/a/x',
    ]) {
      const text = await rawRequest(
        door.url,
        `GET ${path} HTTP/1.1\r\nHost: evil.example\r\nAccept: ${BROWSER}\r\nConnection: close\r\n\r\n`,
      )
      expect(text, path).to.match(/^HTTP\/1.1 (?:200|400|401|404) /)
      expect(text.split('\r\n\r\n')[0], path).to.not.match(/^(?:Location|Set-Cookie|Refresh):/im)
      expect(text, path).to.not.contain('<script>alert')
    }
  })

  it('is the new one once it is built anew, and says how to build it where it is not', async () => {
    const other = join(folder, 'other')
    const second = await openDoor(() => undefined, { pageFolder: other })
    try {
      const page = () => fetch(second.url, { headers: { accept: BROWSER } })
      const missing = await page()
      expect(missing.status).to.equal(503)
      expect(await missing.text()).to.contain('npm run build')
      expect(missing.headers.get('content-security-policy')).to.not.match(/script-src|unsafe/)
      expect((await fetch(second.url)).status).to.equal(200)
      mkdirSync(join(other, 'assets'), { recursive: true })
      writeFileSync(join(other, 'assets/one.js'), '1')
      writeFileSync(join(other, 'index.html'), HTML)
      expect((await page()).status).to.equal(200)
      expect((await fetch(`${second.url}/assets/one.js`)).status).to.equal(200)
      writeFileSync(join(other, 'assets/two.js'), '2')
      writeFileSync(join(other, 'index.html'), HTML.replace('Built', 'Built anew'))
      expect(await (await page()).text()).to.contain('Built anew')
      expect((await fetch(`${second.url}/assets/two.js`)).status).to.equal(200)
    } finally {
      await second.close()
    }
  })
})
