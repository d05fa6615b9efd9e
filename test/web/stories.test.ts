import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type ViteDevServer } from 'vite'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

// `npm run dev` takes a while to start: it is asked by `npm run proof -- web`.
const isAsked = process.env['WEB_THEMES'] !== undefined

;(isAsked ? describe : describe.skip)('workbench: the parts, as npm run dev shows them', () => {
  let bench: Workbench
  let dev: ViteDevServer
  let url: string
  let cacheDir: string
  before(async () => {
    bench = await openWorkbench()
    cacheDir = mkdtempSync(join(tmpdir(), 'vite-'))
    process.env['BRANCHPOINT_URL'] = bench.url
    dev = await createServer({
      ...{ configFile: 'src/web/vite.config.ts', cacheDir, logLevel: 'error' },
      server: { host: '127.0.0.1', port: 0 },
    })
    delete process.env['BRANCHPOINT_URL']
    await dev.listen(0)
    url = new URL(dev.resolvedUrls?.local[0] ?? '').origin
  })
  after(async () => {
    await closeBrowser()
    await dev.close()
    await bench.close()
    rmSync(cacheDir, { recursive: true, force: true })
  })

  for (const theme of ['light', 'dark'] as const) {
    it(`keeps nobody out in any state of a part, in the ${theme}`, async () => {
      const visit = await bench.visit({ path: '/stories', through: url, theme })
      const { page } = visit
      await page.getByRole('region', { name: 'Upload whose answer is lost' }).waitFor({ timeout: 120_000 })
      await page.getByRole('textbox', { name: 'Parameters' }).waitFor()
      await visit.expectNoBarriers()
      await visit.picture(`stories-${theme}-1440`)
      await visit.close()
    })
  }
})
