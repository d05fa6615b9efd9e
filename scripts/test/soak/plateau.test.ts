import { expect } from 'chai'
import { isPlateau, risePerDay } from '../../proofs/soak/plateau.ts'

const LEVEL = 250

/** Half an hour, a sample every five seconds: a level and what `more` adds after so many minutes. */
const series = (more: (minute: number) => number) =>
  Array.from({ length: 360 }, (_, number): [number, number] => {
    const at = (number + 1) * 5
    return [at, LEVEL + more(at / 60)]
  })

/** Garbage that is collected every 70 seconds, and not always all of it. */
const sawtooth = (minute: number) => ((minute * 60) % 70) * 0.8 + (Math.floor((minute * 60) / 70) % 3)

describe('npm run proof -- soak: whether a series has reached a plateau', () => {
  const flat: [string, (minute: number) => number][] = [
    ['a level', () => 0],
    ['teeth of a saw', sawtooth],
    ['a saw whose teeth grow and whose lows do not', (minute) => ((minute * 60) % 70) * minute * 0.1],
    ['a slow warm-up before it', (minute) => Math.min(minute * 8, 120) + sawtooth(minute)],
    ['one step, wherever it comes', (minute) => (minute > 22 ? 60 : 0) + sawtooth(minute)],
    ['a step at its end', (minute) => (minute > 27 ? 60 : 0)],
    ['a fall', (minute) => -minute],
  ]
  for (const [what, more] of flat)
    it(`has with ${what}`, () => expect(isPlateau(series(more), LEVEL)).to.equal(true))

  const rising: [string, (minute: number) => number][] = [
    ['a leak of a megabyte a minute', (minute) => minute],
    ['a leak below the teeth of a saw', (minute) => minute + sawtooth(minute)],
    ['steps without end', (minute) => 6 * Math.floor(minute / 5)],
    ['a leak that begins in the second half', (minute) => Math.max(0, minute - 18) * 2],
    ['a leak that gets faster', (minute) => 0.03 * minute ** 2],
  ]
  for (const [what, more] of rising)
    it(`has not with ${what}`, () => expect(isPlateau(series(more), LEVEL)).to.equal(false))

  it('says what a leak comes to in a day, a step added or not, and nothing of no samples', () => {
    expect(risePerDay(series((minute) => minute))).to.be.closeTo(1440, 30)
    expect(risePerDay(series((minute) => minute + (minute > 22 ? 60 : 0)))).to.be.closeTo(1440, 60)
    expect(risePerDay([])).to.equal(0)
  })
})
