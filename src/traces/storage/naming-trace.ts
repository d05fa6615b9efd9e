import type { TraceFile } from './trace-file.ts'

/** The id of some trace that names something whose id ends in these digits, by its references; undefined if none does. */
export function namingTrace(file: TraceFile, digits: string): string | undefined {
  const text = `${digits}"`
  const [found] = [...file.rows<Found>(SHARED, text), ...file.rows<Found>(OWN, text)]
  return found?.trace_id
}

interface Found {
  readonly trace_id: string
}

const SHARED = `SELECT t.trace_id FROM reference_texts r JOIN spans s ON s.reference_text = r.id JOIN traces t ON t.id = s.trace
  WHERE instr(r.list, ?) > 0 LIMIT 1`

/** Of a span whose references are in its own record. */
const OWN = `SELECT t.trace_id FROM spans s JOIN traces t ON t.id = s.trace
  WHERE s.reference_text IS NULL AND instr(s.record, ?) > 0 LIMIT 1`
