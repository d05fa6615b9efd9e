import type { CatalogPreset } from '../catalog/catalog-template.ts'

/** The source that a code evaluator begins with: an exact match. */
export const exactMatchInPython = `def evaluate(inputs, outputs, trace):
    matches = outputs == inputs.get("correct_answer")
    return {"score": 1.0 if matches else 0.0, "success": matches}
`

const javascript = `function evaluate(inputs, outputs, trace) {
  const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value))
  const matches = textOf(outputs) === textOf(inputs.correct_answer)
  return { score: matches ? 1.0 : 0.0, success: matches }
}
`

const typescript = `type Verdict = { score: number; success: boolean }

function evaluate(inputs: Record<string, unknown>, outputs: unknown, trace: unknown): Verdict {
  const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))
  const matches = textOf(outputs) === textOf(inputs.correct_answer)
  return { score: matches ? 1.0 : 0.0, success: matches }
}
`

/** An exact match in each language, to be rewritten into something better. */
export const codePresets: readonly CatalogPreset[] = [
  exactMatch('python', 'Python', exactMatchInPython),
  exactMatch('javascript', 'JavaScript', javascript),
  exactMatch('typescript', 'TypeScript', typescript),
]

function exactMatch(runtime: string, language: string, code: string): CatalogPreset {
  return {
    key: `${runtime}_default`,
    name: `Exact Match (${language})`,
    description: `Compares the output with the expected answer, in ${language}.`,
    categories: ['custom'],
    parameters: { runtime, correct_answer_key: 'correct_answer', version: '3', code },
  }
}
