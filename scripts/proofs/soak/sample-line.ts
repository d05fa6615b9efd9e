import { MEASURES, type Measure } from './measures.ts'
import type { Sample } from './sample.ts'

/** One line for a terminal, which is written over the one before. */
export function sampleLine(
  sample: Sample,
  { seconds, problems }: { readonly seconds: number; readonly problems: number },
): string {
  const tell = ({ of, digits, unit }: Measure): string => `${of(sample).toFixed(digits)} ${unit}`.trim()
  const parts = [
    `${clock(sample.at)} of ${clock(seconds)}`,
    `${tell(MEASURES.resident)} resident`,
    `${tell(MEASURES.heap)} heap`,
    `${tell(MEASURES.descriptors)} descriptors`,
    `delay ${tell(MEASURES.delayP99)}`,
    `${tell(MEASURES.requests)} requests/s`,
    `p99 ${tell(MEASURES.p99)}`,
    `${problems} problems`,
  ]
  return `\r${parts.join(' · ').padEnd(118)}`
}

function clock(seconds: number): string {
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
