import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Browser, BrowserContext, ConsoleMessage, Page, Request, WebError } from 'playwright-core'
import { readConfig } from '../../../src/config.ts'
import { openLogger } from '../../../src/http/logger.ts'
import { start } from '../../../src/server/start.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { openBrowser } from '../../support/browser/open-browser.ts'
import { barriers } from './barriers.ts'

/** A real server on a store of its own, with the page. */
export interface Workbench {
  readonly url: string
  readonly storeDir: string
  /** The admin key. */
  readonly key: string
  /** Asks the interface as a client does; fails where the answer is an error. */
  ask(method: string, path: string, body?: unknown, key?: string): Promise<Answer>
  /** Makes a link that signs a browser in, once. */
  signInLink(): Promise<string>
  /** Opens a browser's window, signed in. */
  visit(options?: VisitOptions): Promise<Visit>
  close(): Promise<void>
}

/** What the interface answers: JSON whose members a test knows. */
export type Answer = Record<string, any>

export interface VisitOptions {
  readonly path?: string
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  /** Another key than the admin's. */
  readonly key?: string
  /** Where the browser asks, in place of the server itself: a proxy in front of it. */
  readonly through?: string
  /** Without signing in. */
  readonly signedOut?: boolean
  /** What the browser may write to the console as an error: what the test makes go wrong. */
  readonly expected?: RegExp
}

/** A window of a browser, with nothing in common with others. */
export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Goes to an address of the server. */
  go(path: string): Promise<void>
  /** Fails where somebody with a screen reader, a keyboard or weak sight is kept out. */
  expectNoBarriers(): Promise<void>
  /** Draws a picture of docs/img again under `PICTURES=1 npm run test:rest`; under `PICTURES=all` one that is not there yet, too. */
  picture(name: string): Promise<void>
  /** Closes the window; fails where the page wrote an error to the console, or asked another server. */
  close(): Promise<void>
}

export async function openWorkbench(environment: Readonly<Record<string, string>> = {}): Promise<Workbench> {
  const storeDir = mkdtempSync(join(tmpdir(), 'workbench-'))
  const key = 'svc_workbench_admin'
  const config = readConfig({
    PORT: '0',
    STORE_DIR: storeDir,
    LOG_LEVEL: 'silent',
    SVC_API_KEY: key,
    ...environment,
  })
  const log = openLogger(config.logLevel)
  const service = await start({ config, fs: nodeFs, log, now: () => new Date() })
  const { url } = service.server

  async function ask(method: string, path: string, body?: unknown, withKey = key): Promise<Answer> {
    const response = await fetch(url + path, {
      method,
      headers: { Authorization: `ApiKey ${withKey}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Answer)
  }

  return {
    url,
    storeDir,
    key,
    ask,
    signInLink: async () => {
      const link = await service.signInLink()
      if (link === undefined) throw new Error('there is no key for a link')
      return link
    },
    visit: (options = {}) => openVisit(options.through ?? url, { key, ...options }),
    close: async () => {
      await service.server.stop(1000)
      await service.close()
      rmSync(storeDir, { recursive: true, force: true })
    },
  }
}

/**
 * Windows that were closed, of the browser that had them. One that is opened anew is as new, but for what the browser keeps of the page's files: it
 * need not read and compile them again.
 */
const closed = new WeakMap<Browser, BrowserContext[]>()

/** Opens a browser's window at a server, signed in with this key. */
export async function openVisit(
  url: string,
  options: VisitOptions & { readonly key: string },
): Promise<Visit> {
  const { path = '/', theme = 'light', width = 1440, height = 900, key, signedOut = false } = options
  const browser = await openBrowser()
  const kept = closed.get(browser) ?? []
  closed.set(browser, kept)
  const context =
    kept.pop() ??
    (await browser.newContext({
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    }))
  const problems: string[] = []
  const onRequest = (request: Request): void => {
    const { origin, protocol } = new URL(request.url())
    const isOwn = origin === url || protocol === 'blob:' || protocol === 'data:'
    if (!isOwn) problems.push(`asked ${request.url()}`)
  }
  const onError = (error: WebError): void => void problems.push(`threw ${error.error().stack ?? ''}`)
  const onConsole = (message: ConsoleMessage): void => {
    // A refusal of the server that the page shows is written there by the browser itself.
    const isAnswer = message
      .text()
      .startsWith('Failed to load resource: the server responded with a status of 4')
    const isExpected = options.expected?.test(message.text()) === true
    if (message.type() === 'error' && !isAnswer && !isExpected) problems.push(`wrote ${message.text()}`)
  }
  context.on('request', onRequest).on('weberror', onError).on('console', onConsole)
  if (!signedOut) {
    const answer = await context.request.post(`${url}/api/sessions`, { data: { session: { key } } })
    expect(answer.status(), await answer.text()).to.equal(200)
  }
  const page = await context.newPage()
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: theme })
  page.setDefaultTimeout(30_000)
  await page.goto(url + path)
  return {
    page,
    context,
    go: async (to) => void (await page.goto(url + to)),
    expectNoBarriers: async () => void expect(await barriers(page)).to.deep.equal([]),
    picture: async (name) => {
      const path = `docs/img/${name}.png`
      const { PICTURES: wanted } = process.env
      if (wanted === 'all' || (wanted !== undefined && existsSync(path))) await page.screenshot({ path })
    },
    close: async () => {
      const session = await context.newCDPSession(page)
      await session.send('Storage.clearDataForOrigin', { origin: url, storageTypes: 'all' })
      await Promise.all(context.pages().map((it) => it.close()))
      await context.clearCookies()
      context.off('request', onRequest).off('weberror', onError).off('console', onConsole)
      kept.push(context)
      expect(problems).to.deep.equal([])
    },
  }
}
