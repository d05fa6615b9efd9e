/** In every answer of a recorded server: when its clock says that the request began, in milliseconds. */
export const CLOCK_HEADER = 'x-recorded-clock'
