/** The source that a code evaluator begins with: an exact match. */
export const exactMatchInPython = `def evaluate(inputs, outputs, trace):
    matches = outputs == inputs.get("correct_answer")
    return {"score": 1.0 if matches else 0.0, "success": matches}
`
