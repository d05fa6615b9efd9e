import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { z } from 'zod'
import { closeBrowser, openBrowser } from '../../../test/support/browser/open-browser.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { post } from '../call.ts'
import { type ChatStub, event, finished, startChatStub } from '../../../test/support/servers/chat-stub.ts'
import { type ChildServer, KEY, startReady } from '../../../test/support/servers/child-server.ts'
import { digits } from '../figures/amount.ts'
import { median } from '../figures/median.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { fillStore, lengthen } from '../fill-store.ts'
import { tableCsv } from '../figures/table-rows.ts'
import { progress } from '../progress.ts'
import { uploadFile } from '../testset-calls.ts'
import { writeTextFile } from '../write-text-file.ts'

/** Revisions of the artifact that is opened, and lines of the prompts that are compared. */
const REVISIONS = 10_000
const LINES = 5_000

/** Keys that are typed and cells that are edited in a round. */
const KEYS = 20
const CELLS = 5

/** One thing that somebody waits for: where, what is to be seen, and what it may take in milliseconds. */
interface Waiting {
  readonly work: string
  readonly goal: number
  /** Answers what it took, where that is not the time until all is done. */
  run(page: Page, url: string): Promise<void | readonly number[]>
}

/**
 * The page in a real Chromium: how long one waits for it over a store of many artifacts, one of many revisions, a testset of many rows and
 * long prompts, and for what one types, beside the time of an empty page; and how long the browser was busy at one go.
 */
export async function measureWeb({ folder, rounds, artifacts, mostRows, add }: BenchSetting): Promise<void> {
  const count = artifacts[0] ?? 10_000
  const storeDir = join(folder, 'web')
  await fillStore(storeDir, count)
  lengthen(join(storeDir, 'default', 'workflows', 'bot-0.git'), 'bot-0', REVISIONS)
  const provider = await startChatStub()
  const { service } = await startReady(storeDir, { OPENAI_BASE_URL: provider.url })
  try {
    await makeLongPrompts(service)
    await makeRows(service, folder, mostRows)
    const context = await signedIn(service)
    const all = [EMPTY, ...waitings(count, mostRows), ...actions(mostRows, provider)]
    const took = new Map<string, number[]>()
    const busy: number[] = []
    for (let round = 0; round <= rounds; round++) {
      progress(round === 0 ? 'the page: warming' : `the page: round ${round} of ${rounds}`)
      for (const waiting of all) {
        const page = await context.newPage()
        await page.addInitScript(WATCH)
        const began = performance.now()
        const times = (await waiting.run(page, service.url)) ?? [performance.now() - began]
        // The first round warms the server and the browser's cache.
        if (round > 0) {
          took.set(waiting.work, [...(took.get(waiting.work) ?? []), ...times])
          if (waiting !== EMPTY) busy.push(z.number().parse(await page.evaluate('window.longest ?? 0')))
        }
        await page.close()
      }
    }
    const empty = median(took.get(EMPTY.work) ?? [])
    for (const { work, goal } of all) {
      const times = took.get(work) ?? []
      const ratio = median(times) / empty
      add(
        plainFigure({
          work: `the page: ${work}`,
          rounds: times,
          unit: 'ms',
          goal: { is: '≤', value: goal },
          note:
            work === EMPTY.work
              ? 'the floor of this run'
              : `${digits(ratio)} × the empty page: ${Math.round(ratio * 50)} ms where that takes 50 ms`,
        }),
      )
    }
    const goal = { is: '≤', value: 200 } as const
    const blank = await blanks(context, service.url, rounds)
    add(
      plainFigure({
        work: 'the page: the longest blank while rows are scrolled',
        rounds: blank,
        unit: 'ms',
        goal,
        judged: 'worst',
        note: `the empty page: ${Math.round(empty)} ms`,
      }),
    )
    add(
      plainFigure({
        work: 'the page: the longest task of the browser',
        rounds: busy,
        unit: 'ms',
        goal,
        judged: 'worst',
      }),
    )
    add(
      plainFigure({
        work: 'the page: its first load, compressed',
        rounds: [await firstLoad(service)],
        unit: 'KB',
        goal,
      }),
    )
  } finally {
    await closeBrowser()
    await service.stop()
    await provider.stop()
  }
}

/** Keeps the longest time for which the page answered nobody, and of each key the time until a frame shows what `isShown` looks for. */
const WATCH = `new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest ?? 0, duration)
}).observe({ type: 'longtask', buffered: true })
window.times = []
window.isShown = () => true
window.afterFrame = (when, what) => requestAnimationFrame(() => {
  if (!when()) return afterFrame(when, what)
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = what
  port2.postMessage('after the frame')
})
addEventListener('keydown', ({ timeStamp }) => {
  afterFrame(window.isShown, () => window.times.push(performance.now() - timeStamp))
}, true)`

const EMPTY: Waiting = {
  work: 'an empty one',
  goal: 200,
  run: async (page, url) => void (await page.goto(`${url}/health`)),
}

function waitings(artifacts: number, rows: number): readonly Waiting[] {
  return [
    {
      work: `the start, over ${counted(artifacts)} artifacts`,
      goal: 1500,
      run: async (page, url) => {
        await page.goto(url)
        await atStart(page).waitFor()
      },
    },
    {
      work: `an artifact of ${counted(REVISIONS)} revisions`,
      goal: 700,
      run: async (page, url) => {
        await page.goto(`${url}/a/bot-0`)
        const history = page.getByRole('grid', { name: 'Versions, newest first' })
        await history.getByRole('link', { name: `Revision ${REVISIONS}` }).waitFor()
        await page.getByRole('region', { name: 'Prompt' }).getByText('{{question}}').waitFor()
      },
    },
    {
      work: `what differs between two prompts of ${counted(LINES)} lines`,
      goal: 500,
      run: async (page, url) => {
        await page.goto(`${url}/a/long/compare/r:long-1...r:long-2`)
        await page.getByText('in another way').first().waitFor()
      },
    },
    {
      work: `the middle of a testset of ${counted(rows)} rows, from its address`,
      goal: 1500,
      run: async (page, url) => void (await openMiddle(page, url, rows)),
    },
    {
      work: `the editor of a prompt of ${counted(LINES)} lines`,
      goal: 700,
      run: async (page, url) => void (await openEditor(page, url)),
    },
  ]
}

/** What one types and runs, and how long it takes until it is on the screen. */
function actions(rows: number, provider: ChatStub): readonly Waiting[] {
  return [
    {
      work: `a key typed into a prompt of ${counted(LINES)} lines`,
      goal: 50,
      run: async (page, url) => {
        const text = await openEditor(page, url)
        await text.hover()
        await page.mouse.wheel(0, ((await text.boundingBox())?.height ?? 0) / 2)
        await text.getByText(new RegExp(`^Rule ${LINES / 2}`)).click()
        await page.keyboard.type('k'.repeat(KEYS / 2), { delay: 80 })
        // After a pause the page looks at what was typed: a key may come just then.
        await page.keyboard.type('k'.repeat(KEYS / 2), { delay: 300 })
        return timesOf(page, KEYS)
      },
    },
    {
      work: `a cell edit in a testset of ${counted(rows)} rows`,
      goal: 50,
      run: async (page, url) => {
        await (await openMiddle(page, url, rows)).click()
        // Another column: by this one the row is known in the next round, too.
        await page.keyboard.press('ArrowLeft')
        const times: number[] = []
        for (let cell = 0; cell < CELLS; cell++) {
          const value = `edit ${cell} of ${Date.now()}`
          await page.keyboard.type(value)
          await timesOf(page, value.length)
          await page.evaluate(`window.times = []
            window.isShown = () => [...document.querySelectorAll('[role=gridcell]')].some((it) => it.textContent === '${value}')`)
          await page.keyboard.press('Enter')
          times.push(...(await timesOf(page, 1)))
          await page.evaluate('window.times = []; window.isShown = () => true')
        }
        return times
      },
    },
    {
      work: 'the first words of a stream, after the server has them',
      goal: 100,
      run: async (page, url) => {
        await page.goto(`${url}/a/said/edit/said`)
        await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
        const asked = new Promise<ServerResponse>((take) => provider.answerNext(take))
        await page.keyboard.press('Control+Enter')
        const answer = await asked
        await page.getByRole('region', { name: 'Output' }).getByText('Running…').waitFor()
        await page.evaluate(`window.times = []
          afterFrame(() => document.body.textContent.includes('Far away'), () => window.times.push(Date.now()))`)
        const told = Date.now()
        answer.writeHead(200, { 'content-type': 'text/event-stream' })
        answer.write(event({ choices: [{ index: 0, delta: { content: 'Far away' }, finish_reason: null }] }))
        const [seen = 0] = await timesOf(page, 1)
        finished(answer)
        await page.getByRole('region', { name: 'Output' }).getByText('done', { exact: true }).waitFor()
        return [seen - told]
      },
    },
  ]
}

function counted(number: number): string {
  return number.toLocaleString('en')
}

function atStart(page: Page): Locator {
  return page.getByRole('link', { name: /^(?:bot-\d+|long|said)$/ }).first()
}

/** Opens a testset at its middle; answers a cell of that row. */
async function openMiddle(page: Page, url: string, rows: number): Promise<Locator> {
  await page.goto(`${url}/t/large?at=${rows / 2 + 1}`)
  const cell = page.getByRole('gridcell', { name: new RegExp(`page-${rows / 2}$`) })
  await cell.waitFor()
  return cell
}

/** Opens the editor of the long prompt; answers its text. */
async function openEditor(page: Page, url: string): Promise<Locator> {
  await page.goto(`${url}/a/long/edit/long`)
  const text = page.getByRole('textbox', { name: 'Text of message 1, system', exact: true })
  await text.getByText('Rule 0:').waitFor()
  return text
}

/** The times of so many keys, once all are there. */
async function timesOf(page: Page, count: number): Promise<readonly number[]> {
  const there = `new Promise((go) => afterFrame(() => window.times.length >= ${count}, () => go(window.times)))`
  return z.array(z.number()).parse(await page.evaluate(there))
}

/** What a browser that was never here loads for the start: the page and its files, in kilobytes as they are sent. */
async function firstLoad(server: ChildServer): Promise<number> {
  const context = await signedIn(server)
  const page = await context.newPage()
  await page.goto(server.url)
  await atStart(page).waitFor()
  const bytes = await page.evaluate(`performance.getEntries()
    .filter(({ entryType, name }) => entryType === 'navigation' || (entryType === 'resource' && !name.includes('/api/')))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`)
  await context.close()
  return z.number().parse(bytes) / 1000
}

/** How long rows stayed blank at most while the long testset was scrolled, once a round. */
async function blanks(context: BrowserContext, url: string, rounds: number): Promise<readonly number[]> {
  const page = await context.newPage()
  await page.goto(`${url}/t/large`)
  await page.getByRole('gridcell').nth(5).waitFor()
  const longest: number[] = []
  for (let round = 0; round <= rounds; round++) longest.push(await longestBlank(page))
  await page.close()
  // The first round warms the server.
  return longest.slice(1)
}

async function makeLongPrompts(server: ChildServer): Promise<void> {
  const data = (way: (line: number) => string): object => ({
    parameters: {
      prompt: {
        messages: [
          { role: 'system', content: Array.from({ length: LINES }, (_, line) => way(line)).join('\n') },
        ],
      },
    },
  })
  const made = z.object({ application: z.object({ variant_id: z.string() }) })
  const { application } = await post(
    server,
    '/simple/applications/',
    { application: { slug: 'long', data: data((line) => `Rule ${line}: answer kindly and at length.`) } },
    made,
  )
  const changed = data((line) =>
    line % 50 === 7
      ? `Rule ${line}: answer in another way, kindly.`
      : `Rule ${line}: answer kindly and at length.`,
  )
  const commit = { application_variant_id: application.variant_id, message: 'Another way', data: changed }
  await post(server, '/applications/revisions/commit', { application_revision_commit: commit }, z.unknown())
  const prompt = {
    messages: [{ role: 'user', content: 'Tell me of a place.' }],
    llm_config: { model: 'gpt-4o' },
  }
  const said = { slug: 'said', data: { uri: 'svc:builtin:completion:v0', parameters: { prompt } } }
  await post(server, '/simple/applications/', { application: said }, z.unknown())
}

async function makeRows(server: ChildServer, folder: string, rows: number): Promise<void> {
  const file = join(folder, 'large.csv')
  await writeTextFile(file, tableCsv(rows))
  await uploadFile(server, 'large', file)
}

async function signedIn(server: ChildServer): Promise<BrowserContext> {
  const context = await (await openBrowser()).newContext({ viewport: { width: 1440, height: 900 } })
  const answer = await context.request.post(`${server.url}/sessions`, { data: { session: { key: KEY } } })
  if (!answer.ok()) throw new Error(`the browser could not sign in: ${await answer.text()}`)
  return context
}

/**
 * For how many milliseconds at most a row that is seen stays blank while somebody scrolls the grid of a page: with a wheel for three seconds, and
 * with the bar to thirty places, each until its rows are there. Looks once a frame.
 */
async function longestBlank(page: Page): Promise<number> {
  return z.number().parse(await page.evaluate(SCROLL))
}

const SCROLL = `(async () => {
  const grid = document.querySelector('[role=grid]')
  const frame = () => new Promise((go) => requestAnimationFrame(go))
  const isBlank = () => {
    const { top, bottom } = grid.getBoundingClientRect()
    const rows = [...grid.querySelectorAll('[role=row]')].filter((row) => {
      const box = row.getBoundingClientRect()
      return box.bottom > top + 34 && box.top < bottom - 2
    })
    return rows.length < 3 || rows.some((row) => row.querySelector('[data-waiting]') !== null)
  }
  let longest = 0
  let since
  const look = () => {
    const now = performance.now()
    if (!isBlank()) since = undefined
    else longest = Math.max(longest, now - (since ??= now))
  }
  const end = performance.now() + 3000
  while (performance.now() < end) {
    grid.scrollTop += 120
    await frame()
    look()
  }
  let seed = 7
  for (let jump = 0; jump < 30; jump++) {
    seed = (seed * 48271) % 2147483647
    grid.scrollTop = (seed / 2147483647) * (grid.scrollHeight - grid.clientHeight)
    const began = performance.now()
    await frame()
    await frame()
    while (isBlank() && performance.now() - began < 5000) await frame()
    longest = Math.max(longest, performance.now() - began)
  }
  return longest
})()`
