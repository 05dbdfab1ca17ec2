/** The same as in package.json; a test checks it. */
export const version = '0.1.0'
