import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { type SeededRandom, seededRandom } from '../support/values/seeded-random.ts'
import { openWorkbench, type Visit, type Workbench } from './support/workbench.ts'

/** How long four browsers edit: a moment in the tests, ten minutes in `npm run proof -- browsers`. */
const SECONDS = Number(process.env['BROWSERS_SECONDS'] ?? 10)
const SEED = Number(process.env['BROWSERS_SEED'] ?? 20261128)
const ROWS = 6
const COLUMNS = ['a', 'b', 'c'] as const

/** A cell: `<row> <column>`. */
type Cell = string
type Table = ReadonlyMap<Cell, string>

/**
 * Four browsers edit random cells of one testset and save them, as people do who do not know of each other. The model is what each of them typed: a
 * version differs from the one before in cells that its browser typed and nothing else, and has what was typed there, unless the browser chose
 * the other value of a conflict.
 */
describe('workbench: four browsers edit one testset', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
    const testcases = Array.from({ length: ROWS }, (_, row) => ({
      data: { testcase_dedup_id: `row-${row}`, a: 'a', b: 'b', c: 'c' },
    }))
    await bench.ask('POST', '/simple/testsets/', { testset: { slug: 'shared', data: { testcases } } })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  async function tableOf(version: number): Promise<Table> {
    const { testset_revision: revision } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'shared' },
      testset_revision_ref: { slug: `shared-${version}` },
    })
    const table = new Map<Cell, string>()
    for (const { data } of revision.data.testcases)
      for (const column of COLUMNS) table.set(`${data.testcase_dedup_id} ${column}`, data[column])
    return table
  }

  it(`overwrites nothing and loses nothing in ${SECONDS} seconds of random edits (seed ${SEED})`, async function () {
    this.timeout((SECONDS + 240) * 1000)
    const people = await Promise.all(
      Array.from({ length: 4 }, async (_, at) => new Person(await bench.visit({ path: '/t/shared' }), at)),
    )
    const until = Date.now() + SECONDS * 1000
    await Promise.all(people.map((person) => person.edit(until)))
    const saved = new Map(people.flatMap(({ name, saves }) => saves.map((it, at) => [`${name} ${at}`, it])))
    const { testset_revisions: log } = await bench.ask('POST', '/testsets/revisions/log', {
      testset_variant_ref: { slug: 'shared' },
      windowing: { order: 'ascending' },
    })
    let before = await tableOf(1)
    const found = new Set<string>()
    for (const { version, message } of log.slice(1)) {
      const save = saved.get(message)
      expect(save, `version ${version}: ${message}`).to.not.equal(undefined)
      expect(found.has(message), `${message} is there once`).to.equal(false)
      found.add(message)
      const now = await tableOf(version)
      for (const [cell, value] of now) {
        const typed = save?.typed.get(cell)
        if (typed === undefined) expect(value, `${message} leaves ${cell} alone`).to.equal(before.get(cell))
        else if (save?.takes === 'incoming') expect(value, `${message} has ${cell}`).to.equal(typed)
        else expect(value, `${message} has ${cell}`).to.be.oneOf([typed, before.get(cell)])
      }
      before = now
    }
    // A save that had nothing left, since the other value was chosen everywhere, makes no version.
    for (const [message, { takes }] of saved)
      if (takes === 'incoming') expect(found.has(message), `${message} is saved`).to.equal(true)
    expect(found.size, 'versions').to.be.greaterThan(0)
    await Promise.all(people.map((person) => person.visit.close()))
  })
})

interface Save {
  readonly typed: ReadonlyMap<Cell, string>
  /** Which side of a conflict was chosen; incoming if there was none. */
  takes: 'current' | 'incoming'
}

/** Somebody who types into cells and saves. */
class Person {
  readonly name: string
  readonly saves: Save[] = []
  readonly visit: Visit
  readonly #random: SeededRandom
  readonly #page: Page

  constructor(visit: Visit, at: number) {
    this.name = `person ${at}`
    this.visit = visit
    this.#page = visit.page
    this.#random = seededRandom(SEED + at)
  }

  async edit(until: number): Promise<void> {
    try {
      await this.#grid().getByRole('gridcell').first().waitFor()
      do await this.#save(await this.#type())
      while (Date.now() < until)
    } catch (error) {
      // What the page shows in place of what was waited for.
      const shown = await this.#page.locator('body').ariaSnapshot()
      throw new Error(`${this.name} at ${this.#page.url()} sees\n${shown}`, { cause: error })
    }
  }

  /** Types into one to three cells. */
  async #type(): Promise<Map<Cell, string>> {
    const typed = new Map<Cell, string>()
    const { keyboard } = this.#page
    for (let left = 1 + this.#random.below(3); left > 0; left--) {
      const [row, column] = [this.#random.below(ROWS), this.#random.below(COLUMNS.length)]
      const text = `${this.name} ${this.saves.length} ${left}`
      await this.#grid().focus()
      await keyboard.press('Control+Home')
      for (let down = 0; down < row; down++) await keyboard.press('ArrowDown')
      for (let right = 0; right <= column; right++) await keyboard.press('ArrowRight')
      await keyboard.type(text)
      await keyboard.press('Enter')
      typed.set(`row-${row} ${COLUMNS[column] ?? ''}`, text)
    }
    return typed
  }

  async #save(typed: ReadonlyMap<Cell, string>): Promise<void> {
    const page = this.#page
    const save: Save = { typed, takes: 'incoming' }
    const message = `${this.name} ${this.saves.length}`
    this.saves.push(save)
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').first().fill(message)
    await page.keyboard.press('Control+Enter')
    const side = this.#random.pick(['current', 'incoming'] as const)
    const all = dialog.getByRole('button', { name: new RegExp(`^Use ${side} for all`) })
    // Until it is saved, newer versions may come again and again, with other conflicts.
    for (;;) {
      await Promise.race([dialog.waitFor({ state: 'detached' }), all.waitFor()])
      if ((await dialog.count()) === 0) return
      save.takes = side
      // It is off once all is decided, and gone once it is saved.
      await all.click({ timeout: 1000 }).catch(() => undefined)
      await page.keyboard.press('Control+Enter')
      await page.waitForTimeout(250)
    }
  }

  #grid(): Locator {
    return this.#page.getByRole('grid')
  }
}
