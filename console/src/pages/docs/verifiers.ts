/** The verifiers of other languages, as they are in the folder `sdk`. */
export { default as go } from '../../../../sdk/go/verify.go?raw'
export { default as php } from '../../../../sdk/php/verify.php?raw'
export { default as ruby } from '../../../../sdk/ruby/verify.rb?raw'
