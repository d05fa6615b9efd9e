import type { Page } from 'playwright-core'
import { z } from 'zod'

/**
 * For how many milliseconds at most a row that is seen stays blank while somebody scrolls the grid of a page: with a wheel for three seconds, and
 * with the bar to thirty places, each until its rows are there. Looks once a frame.
 */
export async function longestBlank(page: Page): Promise<number> {
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
