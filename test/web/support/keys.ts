import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'

/** What somebody without a mouse does. */
export interface Keys {
  /** Moves on with Tab until this has the focus. */
  tabTo(target: Locator): Promise<void>
  /** Moves on to it with Tab, and presses a key there: Enter, if no other is named. */
  press(target: Locator, key?: string): Promise<void>
  /** Picks an item of the menu that is open. */
  pick(item: Locator): Promise<void>
  /** Moves on to it with Tab, and types this in the place of what it has. */
  type(target: Locator, text: string): Promise<void>
  /** Waits until this has the focus. */
  expectFocus(target: Locator): Promise<void>
  /** Fails if the page was clicked. */
  expectNoMouse(): Promise<void>
}

/** A focus that has not come to something after so many steps never does. */
const MOST_STEPS = 600

export async function keysOf(page: Page): Promise<Keys> {
  const clicks: string[] = []
  await page.exposeFunction('clicked', (what: string) => clicks.push(what))
  await page.addInitScript(
    `addEventListener('pointerdown', ({ target }) => clicked(target.outerHTML.slice(0, 100)), true)`,
  )
  await page.reload()
  const goTo = async (target: Locator, key: string): Promise<void> => {
    await target.waitFor()
    const name = target.toString()
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      if (await target.evaluate((it) => it === it.ownerDocument.activeElement)) return
      await page.keyboard.press(key)
    }
    throw new Error(`${key} does not come to ${name}`)
  }
  const tabTo = (target: Locator): Promise<void> => goTo(target, 'Tab')
  return {
    tabTo,
    pick: async (item) => {
      await goTo(item, 'ArrowDown')
      await page.keyboard.press('Enter')
    },
    expectFocus: async (target) => {
      const isFocused = () => target.evaluate((it) => it === it.ownerDocument.activeElement)
      while (!(await isFocused())) await page.waitForTimeout(20)
    },
    press: async (target, key = 'Enter') => {
      await tabTo(target)
      await page.keyboard.press(key)
    },
    type: async (target, text) => {
      await tabTo(target)
      await page.keyboard.press('Control+a')
      await page.keyboard.type(text)
    },
    expectNoMouse: async () => void expect(clicks).to.deep.equal([]),
  }
}
