import type { Page, BrowserContext } from 'playwright-core'
import { join } from 'node:path'
import { z } from 'zod'
import { closeBrowser, openBrowser } from '../../../test/support/browser/open-browser.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { post } from '../call.ts'
import { type ChildServer, KEY, startReady } from '../../../test/support/servers/child-server.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { fillStore, lengthen } from '../fill-store.ts'
import { tableCsv } from '../figures/table-rows.ts'
import { uploadFile } from '../testset-calls.ts'
import { writeTextFile } from '../write-text-file.ts'

/** Revisions of the artifact that is opened, and lines of the prompts that are compared. */
const REVISIONS = 10_000
const LINES = 5_000

/** One thing that somebody waits for: where, what is to be seen, and what it may take in milliseconds. */
interface Waiting {
  readonly work: string
  readonly goal: number
  run(page: Page, url: string): Promise<void>
}

/**
 * The page in a real Chromium: how long one waits for it over a store of many artifacts, one of many revisions, a testset of many rows and
 * long prompts, beside the time of an empty page; and how long the browser was busy at one go.
 */
export async function measureWeb({ folder, rounds, artifacts, mostRows, add }: BenchSetting): Promise<void> {
  const count = artifacts[0] ?? 10_000
  const storeDir = join(folder, 'web')
  await fillStore(storeDir, count)
  lengthen(join(storeDir, 'default', 'workflows', 'bot-0.git'), 'bot-0', REVISIONS)
  const { service } = await startReady(storeDir)
  try {
    await makeLongPrompts(service)
    await makeRows(service, folder, mostRows)
    const context = await signedIn(service)
    const took = new Map<string, number[]>()
    const busy: number[] = []
    for (let round = 0; round <= rounds; round++) {
      for (const waiting of [EMPTY, ...waitings(count, mostRows)]) {
        const page = await context.newPage()
        await page.addInitScript(WATCH)
        const began = performance.now()
        await waiting.run(page, service.url)
        const time = performance.now() - began
        // The first round warms the server and the browser's cache.
        if (round > 0) {
          took.set(waiting.work, [...(took.get(waiting.work) ?? []), time])
          if (waiting !== EMPTY) busy.push(z.number().parse(await page.evaluate('window.longest ?? 0')))
        }
        await page.close()
      }
    }
    const empty = took.get(EMPTY.work) ?? []
    for (const { work, goal } of [EMPTY, ...waitings(count, mostRows)]) {
      add(
        plainFigure({
          work: `the page: ${work}`,
          rounds: took.get(work) ?? [],
          unit: 'ms',
          goal: { is: '≤', value: goal },
          note:
            work === EMPTY.work
              ? 'the floor of this run'
              : `an empty page ${Math.round(Math.min(...empty))} ms`,
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
  } finally {
    await closeBrowser()
    await service.stop()
  }
}

/** Keeps the longest time for which the page answered nobody. */
const WATCH = `new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest ?? 0, duration)
}).observe({ type: 'longtask', buffered: true })`

const EMPTY: Waiting = {
  work: 'an empty one',
  goal: 200,
  run: async (page, url) => void (await page.goto(`${url}/health`)),
}

function waitings(artifacts: number, rows: number): readonly Waiting[] {
  const counted = (number: number): string => number.toLocaleString('en')
  return [
    {
      work: `the start, over ${counted(artifacts)} artifacts`,
      goal: 1500,
      run: async (page, url) => {
        await page.goto(url)
        await page
          .getByRole('link', { name: /^(?:bot-\d+|long)$/ })
          .first()
          .waitFor()
      },
    },
    {
      work: `an artifact of ${counted(REVISIONS)} revisions`,
      goal: 700,
      run: async (page, url) => {
        await page.goto(`${url}/a/bot-0`)
        await page.getByText(`Revision ${REVISIONS}`).first().waitFor()
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
      run: async (page, url) => {
        await page.goto(`${url}/t/large`)
        await page.getByRole('grid').waitFor()
        await page.getByRole('row').nth(5).waitFor()
      },
    },
  ]
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
